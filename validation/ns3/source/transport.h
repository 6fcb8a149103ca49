// TCP as the settings want it.
#pragma once

#include "settings.h"

namespace validation
{

// Sets the defaults of every TCP socket; call it before any node exists.
void ConfigureTransport(const Settings& settings);

} // namespace validation
