#include "dumbbell.h"

#include "links.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/node-container.h"

#include <string>

namespace validation
{

Network
BuildDumbbell(const Settings& settings)
{
    ns3::NodeContainer senders;
    senders.Create(settings.flows);
    ns3::NodeContainer receivers;
    receivers.Create(settings.flows);
    ns3::NodeContainer routers;
    routers.Create(2);
    const NamedNode leftRouter{routers.Get(0), "A"};
    const NamedNode rightRouter{routers.Get(1), "B"};

    ns3::InternetStackHelper internet;
    internet.Install(senders);
    internet.Install(receivers);
    internet.Install(routers);

    LinkBuilder links(settings);
    ns3::Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    const auto assign = [&addresses](const Link& link) {
        const ns3::Ipv4InterfaceContainer interfaces = addresses.Assign(link.devices);
        addresses.NewNetwork();
        return interfaces;
    };

    Network network;
    const Link bottleneck = links.Connect(leftRouter, rightRouter, settings.linkDelay);
    assign(bottleneck);
    network.ports.push_back(bottleneck.ports[0]);
    for (uint32_t flow = 0; flow < settings.flows; ++flow)
    {
        const std::string number = std::to_string(flow + 1);
        const ns3::Time extraDelay =
            flow == 0 ? settings.firstExtraDelay : settings.secondExtraDelay;
        const Link access = links.Connect({senders.Get(flow), "S" + number},
                                          leftRouter,
                                          settings.linkDelay + extraDelay);
        const Link egress =
            links.Connect(rightRouter, {receivers.Get(flow), "D" + number}, settings.linkDelay);
        const auto senderInterfaces = assign(access);
        const auto receiverInterfaces = assign(egress);
        network.flows.push_back({senders.Get(flow),
                                 senderInterfaces.GetAddress(0),
                                 receivers.Get(flow),
                                 receiverInterfaces.GetAddress(1)});
        network.ports.push_back(access.ports[0]);
    }
    ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return network;
}

} // namespace validation
