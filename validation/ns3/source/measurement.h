// The measurement window, and the kinds of numbers that are taken over it.
#pragma once

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace validation
{

struct MeasurementWindow
{
    ns3::Time from;
    ns3::Time to;

    bool ContainsNow() const
    {
        const ns3::Time now = ns3::Simulator::Now();
        return from <= now && now < to;
    }
};

// Counts events over the whole run and inside the measurement window.
struct EventCount
{
    uint64_t inRun{0};
    uint64_t inWindow{0};

    void Add(const MeasurementWindow& window)
    {
        ++inRun;
        inWindow += window.ContainsNow() ? 1 : 0;
    }
};

// The mean over the measurement window of a value that changes in steps, weighted by time. What
// comes before the first value does not count.
class MeanOverTime
{
  public:
    explicit MeanOverTime(const MeasurementWindow& window);
    void Set(double value);

    // Accounts for the time since the last change; call it when the run has ended.
    void Finish();

    // Zero when there was no value in the window.
    double Mean() const;

  private:
    MeasurementWindow m_window;
    ns3::Time m_lastChange{0};
    std::optional<double> m_value;
    double m_integral{0};
    double m_seconds{0};
};

// How often, or how long, each number of packets was seen.
class PacketDistribution
{
  public:
    void Add(uint32_t packets, int64_t weight);
    double Mean() const;

    // The smallest number of packets that at least this share of the weight does not exceed.
    uint32_t Quantile(double share) const;
    uint32_t Maximum() const;

  private:
    std::vector<int64_t> m_weights;
};

} // namespace validation
