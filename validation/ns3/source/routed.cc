#include "routed.h"

#include "links.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace validation
{

namespace
{

using Path = std::vector<std::string>;

// The paths of a flow's data and of its acknowledgements.
struct FlowPaths
{
    Path data;
    Path acknowledgements;
};

void
Refuse(const std::string& file, const std::string& message)
{
    std::cerr << "comparison: " << file << ": " << message << '\n';
    std::exit(2);
}

std::vector<FlowPaths>
ReadPaths(const std::string& file)
{
    std::ifstream input(file);
    std::vector<Path> paths;
    std::string line;
    while (std::getline(input, line))
    {
        std::istringstream words(line);
        Path path;
        for (std::string name; words >> name;)
        {
            path.push_back(name);
        }
        if (path.size() < 2)
        {
            Refuse(file, "a path of fewer than two nodes: \"" + line + "\"");
        }
        paths.push_back(path);
    }
    if (paths.empty() || paths.size() % 2 != 0)
    {
        Refuse(file, "expected two lines for each flow, of its data and its acknowledgements");
    }
    std::vector<FlowPaths> flows;
    for (size_t index = 0; index < paths.size(); index += 2)
    {
        const FlowPaths flow{paths[index], paths[index + 1]};
        if (flow.data.front() != flow.acknowledgements.back() ||
            flow.data.back() != flow.acknowledgements.front())
        {
            Refuse(file, "the acknowledgements of a flow do not lead back to its sender");
        }
        flows.push_back(flow);
    }
    return flows;
}

// Nodes by name, made when first named, and the links between them.
class Graph
{
  public:
    explicit Graph(const Settings& settings)
        : m_delay(settings.linkDelay),
          m_links(settings)
    {
        m_addresses.SetBase("10.0.0.0", "255.255.255.0");
    }

    ns3::Ptr<ns3::Node> NodeOf(const std::string& name)
    {
        const auto found = m_nodes.find(name);
        if (found != m_nodes.end())
        {
            return found->second;
        }
        const auto node = ns3::CreateObject<ns3::Node>();
        m_internet.Install(node);
        m_nodes[name] = node;
        return node;
    }

    // The number of the interface of `from` that leads to its neighbour.
    uint32_t InterfaceTo(const std::string& from, const std::string& to)
    {
        const auto found = m_interfaces.find({from, to});
        if (found != m_interfaces.end())
        {
            return found->second;
        }
        const Link link = m_links.Connect({NodeOf(from), from}, {NodeOf(to), to}, m_delay);
        const ns3::Ipv4InterfaceContainer interfaces = m_addresses.Assign(link.devices);
        m_addresses.NewNetwork();
        m_interfaces[{from, to}] = interfaces.Get(0).second;
        m_interfaces[{to, from}] = interfaces.Get(1).second;
        m_ports.insert(m_ports.end(), link.ports.begin(), link.ports.end());
        return m_interfaces[{from, to}];
    }

    // The address of a host's end of its link.
    ns3::Ipv4Address AddressOf(const std::string& host, const std::string& neighbour)
    {
        const uint32_t interface = InterfaceTo(host, neighbour);
        return NodeOf(host)->GetObject<ns3::Ipv4>()->GetAddress(interface, 0).GetLocal();
    }

    // Gives a host a second address at its end of its link.
    void AddAddress(const std::string& host, const std::string& neighbour, ns3::Ipv4Address address)
    {
        const uint32_t interface = InterfaceTo(host, neighbour);
        NodeOf(host)->GetObject<ns3::Ipv4>()->AddAddress(
            interface,
            ns3::Ipv4InterfaceAddress(address, ns3::Ipv4Mask::GetOnes()));
    }

    // Has every node on a path forward along it what is sent to this address of its last node. An
    // address belongs to one path only, so that routes by destination are enough.
    void Lay(const Path& path, ns3::Ipv4Address destination)
    {
        ns3::Ipv4StaticRoutingHelper routing;
        for (size_t hop = 0; hop + 1 < path.size(); ++hop)
        {
            const uint32_t interface = InterfaceTo(path[hop], path[hop + 1]);
            const auto stack = NodeOf(path[hop])->GetObject<ns3::Ipv4>();
            routing.GetStaticRouting(stack)->AddHostRouteTo(destination, interface);
        }
    }

    const std::vector<Port>& Ports() const
    {
        return m_ports;
    }

  private:
    ns3::Time m_delay;
    LinkBuilder m_links;
    ns3::InternetStackHelper m_internet;
    ns3::Ipv4AddressHelper m_addresses;
    std::map<std::string, ns3::Ptr<ns3::Node>> m_nodes;
    std::map<std::pair<std::string, std::string>, uint32_t> m_interfaces;
    std::vector<Port> m_ports;
};

} // namespace

Network
BuildRouted(const Settings& settings)
{
    Graph graph(settings);
    Network network;
    // A host sends data from the address of its link, which ns-3 chooses, and receives them at a
    // second one. This keeps the data that come to it apart from the acknowledgements that come to
    // it: they take different paths.
    ns3::Ipv4AddressHelper addresses;
    addresses.SetBase("192.168.0.0", "255.255.0.0");
    for (const FlowPaths& flow : ReadPaths(settings.paths))
    {
        const std::string& from = flow.data.front();
        const std::string& to = flow.data.back();
        const ns3::Ipv4Address sender = graph.AddressOf(from, flow.data[1]);
        const ns3::Ipv4Address receiver = addresses.NewAddress();
        graph.AddAddress(to, flow.acknowledgements[1], receiver);
        graph.Lay(flow.data, receiver);
        graph.Lay(flow.acknowledgements, sender);
        network.flows.push_back({graph.NodeOf(from), sender, graph.NodeOf(to), receiver});
    }
    network.ports = graph.Ports();
    return network;
}

} // namespace validation
