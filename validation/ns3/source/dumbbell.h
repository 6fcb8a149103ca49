// Two routers, and as many senders and receivers as there are flows:
//
//     sender 1 ──┐                                ┌── receiver 1
//                left router ── bottleneck ── right router
//     sender 2 ──┘                                └── receiver 2
#pragma once

#include "network.h"
#include "settings.h"

namespace validation
{

Network BuildDumbbell(const Settings& settings);

} // namespace validation
