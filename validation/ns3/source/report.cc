#include "report.h"

#include "json_writer.h"

#include "ns3/version.h"

#include <string>

namespace validation
{

namespace
{

constexpr double kBitsPerByte = 8;
constexpr double kMega = 1e6;
constexpr uint32_t kDumbbellLinks = 3;

double
Microseconds(ns3::Time time)
{
    return static_cast<double>(time.GetNanoSeconds()) / 1e3;
}

void
WriteSettings(JsonWriter& json, const Settings& settings)
{
    json.BeginObject("settings");
    json.Text("network", settings.network);
    json.Number("start_jitter_us", Microseconds(settings.startJitter));
    json.Number("second_flow_start_s", settings.secondFlowStart.GetSeconds());
    json.Number("stop_at_s", settings.stopAt.GetSeconds());
    json.Number("link_rate_mbps", static_cast<double>(settings.linkRate.GetBitRate()) / kMega);
    json.Number("link_delay_us", Microseconds(settings.linkDelay));
    json.Number("order_jitter_us", Microseconds(settings.orderJitter));
    json.Text("queue", settings.queue);
    json.Number("queue_limit_packets", settings.queueLimitPackets);
    if (settings.queue == "step-marking")
    {
        json.Number("marking_threshold_packets", settings.markingThresholdPackets);
    }
    json.Text("controller", settings.controller);
    json.Text("recovery", settings.recovery);
    json.Text("pathweave_rules", settings.pathweaveRules);
    json.Truth("sack", settings.selectiveAcknowledgements);
    json.Truth("timestamps", settings.timestamps);
    json.Number("segment_bytes", settings.segmentBytes);
    json.Number("data_packet_wire_bytes", settings.DataPacketWireBytes());
    json.Number("acknowledgement_wire_bytes", settings.AcknowledgementWireBytes());
    json.Number("initial_window_packets", settings.initialWindowPackets);
    json.Number("initial_slow_start_threshold_bytes", settings.initialSlowStartThresholdBytes);
    json.Number("acknowledge_every_packets", settings.acknowledgeEvery);
    json.Number("acknowledge_timeout_ms", Microseconds(settings.acknowledgeTimeout) / 1e3);
    json.Number("minimum_retransmission_timeout_ms",
                Microseconds(settings.minimumRetransmissionTimeout) / 1e3);
    json.Number("socket_buffer_bytes", settings.socketBufferBytes);
    json.EndObject();
}

void
WriteCount(JsonWriter& json, const std::string& name, const EventCount& count)
{
    json.Number(name, static_cast<double>(count.inWindow));
    json.Number(name + "_in_run", static_cast<double>(count.inRun));
}

SourceCounts
SumOverPorts(const std::vector<std::unique_ptr<PortMonitor>>& ports, ns3::Ipv4Address source)
{
    SourceCounts sum;
    for (const auto& port : ports)
    {
        const SourceCounts counts = port->CountsOf(source);
        sum.marks.inRun += counts.marks.inRun;
        sum.marks.inWindow += counts.marks.inWindow;
        sum.drops.inRun += counts.drops.inRun;
        sum.drops.inWindow += counts.drops.inWindow;
    }
    return sum;
}

void
WriteFlow(JsonWriter& json,
          const Settings& settings,
          const MeasurementWindow& window,
          const Flow& flow,
          const std::vector<std::unique_ptr<PortMonitor>>& ports)
{
    const double goodput = static_cast<double>(flow.DeliveredBytesInWindow()) * kBitsPerByte /
                           (window.to - window.from).GetSeconds();
    const SourceCounts counts = SumOverPorts(ports, flow.SenderAddress());
    json.BeginObject();
    json.Number("start_s", flow.Start().GetSeconds());
    json.Number("goodput_mbps", goodput / kMega);
    json.Number("smoothed_rtt_us", flow.MeanSmoothedRoundTripTime() * 1e6);
    json.Number("goodput_share", goodput / settings.WireCeilingBitsPerSecond());
    WriteCount(json, "data_packets", flow.DataPackets());
    WriteCount(json, "marks", counts.marks);
    WriteCount(json, "drops", counts.drops);
    WriteCount(json, "retransmissions", flow.Retransmissions());
    WriteCount(json, "timeouts", flow.Timeouts());
    json.EndObject();
}

void
WriteDistribution(JsonWriter& json, const std::string& name, const PacketDistribution& packets)
{
    json.BeginObject(name);
    json.Number("mean", packets.Mean());
    json.Number("p50", packets.Quantile(0.5));
    json.Number("p99", packets.Quantile(0.99));
    json.Number("maximum", packets.Maximum());
    json.EndObject();
}

void
WritePort(JsonWriter& json,
          const PortMonitor& port,
          const std::vector<std::unique_ptr<Flow>>& flows)
{
    json.BeginObject(port.Name());
    json.BeginObject("packets");
    WriteDistribution(json, "waiting", port.Waiting());
    WriteDistribution(json, "waiting_seen_by_arrivals", port.WaitingSeenByArrivals());
    WriteDistribution(json, "in_discipline", port.InDiscipline());
    WriteDistribution(json, "waiting_and_in_service", port.WaitingAndInService());
    json.EndObject();
    SourceCounts sum;
    for (const auto& flow : flows)
    {
        const SourceCounts counts = port.CountsOf(flow->SenderAddress());
        sum.marks.inRun += counts.marks.inRun;
        sum.marks.inWindow += counts.marks.inWindow;
        sum.drops.inRun += counts.drops.inRun;
        sum.drops.inWindow += counts.drops.inWindow;
    }
    WriteCount(json, "marks", sum.marks);
    WriteCount(json, "drops", sum.drops);
    json.EndObject();
}

std::vector<double>
SeriesInMegabitsPerSecond(const Flow& flow, ns3::Time bin)
{
    std::vector<double> rates;
    rates.reserve(flow.DeliveredBytesByBin().size());
    for (const uint64_t bytes : flow.DeliveredBytesByBin())
    {
        rates.push_back(static_cast<double>(bytes) * kBitsPerByte / bin.GetSeconds() / kMega);
    }
    return rates;
}

} // namespace

void
WriteReport(std::ostream& output,
            const Settings& settings,
            const MeasurementWindow& window,
            const std::vector<std::unique_ptr<Flow>>& flows,
            const std::vector<std::unique_ptr<PortMonitor>>& ports)
{
    JsonWriter json(output);
    json.BeginObject();
    json.Text("case", settings.caseName);
    json.Text("simulator", "ns-" + std::to_string(ns3::Version::Major()) + "." +
                               std::to_string(ns3::Version::Minor()));
    json.Number("seed", settings.seed);
    if (settings.network == "dumbbell")
    {
        json.Number("base_rtt_us", Microseconds(settings.BaseRoundTripTime(kDumbbellLinks)));
    }
    json.Number("wire_ceiling_mbps", settings.WireCeilingBitsPerSecond() / kMega);
    json.Number("measured_from_s", window.from.GetSeconds());
    json.Number("measured_to_s", window.to.GetSeconds());
    WriteSettings(json, settings);

    json.BeginArray("flows");
    for (const auto& flow : flows)
    {
        WriteFlow(json, settings, window, *flow, ports);
    }
    json.EndArray();

    json.BeginObject("ports");
    for (const auto& port : ports)
    {
        WritePort(json, *port, flows);
    }
    json.EndObject();

    json.BeginObject("series");
    json.Number("bin_s", settings.seriesBin.GetSeconds());
    json.BeginArray("goodput_mbps");
    for (const auto& flow : flows)
    {
        json.Numbers("", SeriesInMegabitsPerSecond(*flow, settings.seriesBin));
    }
    json.EndArray();
    json.EndObject();
    json.EndObject();
}

} // namespace validation
