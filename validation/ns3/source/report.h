// The result of a run as JSON. README.md says what each number counts.
#pragma once

#include "flow.h"
#include "port_monitor.h"
#include "settings.h"

#include <memory>
#include <ostream>
#include <vector>

namespace validation
{

void WriteReport(std::ostream& output,
                 const Settings& settings,
                 const MeasurementWindow& window,
                 const std::vector<std::unique_ptr<Flow>>& flows,
                 const std::vector<std::unique_ptr<PortMonitor>>& ports);

} // namespace validation
