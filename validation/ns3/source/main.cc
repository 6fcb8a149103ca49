// Two TCP flows over a dumbbell, measured: the ns-3 side of the comparison.

#include "dumbbell.h"
#include "flow.h"
#include "port_monitor.h"
#include "report.h"
#include "settings.h"

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
    const Dumbbell dumbbell = BuildDumbbell(settings);
    const MeasurementWindow window{settings.measureFrom, settings.stopAt};

    const auto startOffset = ns3::CreateObject<ns3::UniformRandomVariable>();
    startOffset->SetStream(0);
    std::vector<std::unique_ptr<Flow>> flows;
    std::vector<std::unique_ptr<PortMonitor>> ports;
    ports.push_back(std::make_unique<PortMonitor>("bottleneck",
                                                  dumbbell.bottleneck.device,
                                                  dumbbell.bottleneck.discipline,
                                                  window));
    for (size_t index = 0; index < kFlows; ++index)
    {
        const ns3::Time planned = index == 0 ? ns3::Seconds(0) : settings.secondFlowStart;
        const auto offset = static_cast<int64_t>(startOffset->GetValue() *
                                                 settings.startJitter.GetNanoSeconds());
        const Host& sender = dumbbell.senders[index];
        const Host& receiver = dumbbell.receivers[index];
        flows.push_back(std::make_unique<Flow>(settings,
                                               window,
                                               sender.node,
                                               sender.address,
                                               receiver.node,
                                               receiver.address,
                                               planned + ns3::NanoSeconds(offset)));
        ports.push_back(std::make_unique<PortMonitor>("sender_" + std::to_string(index + 1),
                                                      sender.port.device,
                                                      sender.port.discipline,
                                                      window));
    }

    ns3::Simulator::Stop(settings.stopAt);
    ns3::Simulator::Run();
    for (const auto& port : ports)
    {
        port->Finish();
    }
    WriteReport(std::cout, settings, window, flows, ports);
    ns3::Simulator::Destroy();
    return 0;
}
