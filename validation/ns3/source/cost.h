// What a run costs: CPU time and packet-hops.
#pragma once

#include "flow.h"
#include "network.h"
#include "settings.h"

#include <memory>
#include <ostream>
#include <vector>

namespace validation
{

// Runs the simulation until settings.stopAt and writes what it cost as one line of JSON. The CPU time is
// that of the events alone; what was built before does not count.
void RunAndReportCost(std::ostream& output,
                      const Settings& settings,
                      const Network& network,
                      const std::vector<std::unique_ptr<Flow>>& flows);

} // namespace validation
