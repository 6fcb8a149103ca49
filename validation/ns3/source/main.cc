// TCP flows over a network, measured: the ns-3 side of the comparison.

#include "cost.h"
#include "dumbbell.h"
#include "flow.h"
#include "port_monitor.h"
#include "report.h"
#include "routed.h"
#include "settings.h"
#include "transport.h"

#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <iostream>
#include <memory>
#include <vector>

int
main(int argumentCount, char** arguments)
{
    using namespace validation;

    const Settings settings = ParseCommandLine(argumentCount, arguments);
    ns3::RngSeedManager::SetRun(settings.seed);
    ConfigureTransport(settings);
    const Network network =
        settings.network == "routed" ? BuildRouted(settings) : BuildDumbbell(settings);
    const MeasurementWindow window{settings.measureFrom, settings.stopAt};

    const auto startOffset = ns3::CreateObject<ns3::UniformRandomVariable>();
    startOffset->SetStream(0);
    std::vector<std::unique_ptr<Flow>> flows;
    for (const FlowEnds& ends : network.flows)
    {
        const bool isSecond = flows.size() == 1 && settings.network == "dumbbell";
        const ns3::Time planned = isSecond ? settings.secondFlowStart : ns3::Seconds(0);
        const auto offset = static_cast<int64_t>(startOffset->GetValue() *
                                                 settings.startJitter.GetNanoSeconds());
        flows.push_back(std::make_unique<Flow>(settings,
                                               window,
                                               ends,
                                               planned + ns3::NanoSeconds(offset)));
    }
    if (settings.report == "cost")
    {
        RunAndReportCost(std::cout, settings, network, flows);
        ns3::Simulator::Destroy();
        return 0;
    }
    std::vector<std::unique_ptr<PortMonitor>> ports;
    for (const Port& port : network.ports)
    {
        ports.push_back(
            std::make_unique<PortMonitor>(port.name, port.device, port.discipline, window));
    }

    ns3::Simulator::Stop(settings.stopAt);
    ns3::Simulator::Run();
    for (const auto& flow : flows)
    {
        flow->Finish();
    }
    for (const auto& port : ports)
    {
        port->Finish();
    }
    WriteReport(std::cout, settings, window, flows, ports);
    ns3::Simulator::Destroy();
    return 0;
}
