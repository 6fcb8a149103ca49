#include "measurement.h"

#include <algorithm>
#include <numeric>

namespace validation
{

MeanOverTime::MeanOverTime(const MeasurementWindow& window)
    : m_window(window)
{
}

void
MeanOverTime::Set(double value)
{
    Finish();
    m_value = value;
}

void
MeanOverTime::Finish()
{
    const ns3::Time now = ns3::Simulator::Now();
    const ns3::Time begin = std::max(m_lastChange, m_window.from);
    const ns3::Time end = std::min(now, m_window.to);
    m_lastChange = now;
    if (m_value && begin < end)
    {
        const double seconds = (end - begin).GetSeconds();
        m_integral += *m_value * seconds;
        m_seconds += seconds;
    }
}

double
MeanOverTime::Mean() const
{
    return m_seconds > 0 ? m_integral / m_seconds : 0;
}

void
PacketDistribution::Add(uint32_t packets, int64_t weight)
{
    if (weight <= 0)
    {
        return;
    }
    if (packets >= m_weights.size())
    {
        m_weights.resize(packets + 1, 0);
    }
    m_weights[packets] += weight;
}

double
PacketDistribution::Mean() const
{
    double weightedSum = 0;
    double total = 0;
    for (size_t packets = 0; packets < m_weights.size(); ++packets)
    {
        weightedSum += static_cast<double>(packets) * static_cast<double>(m_weights[packets]);
        total += static_cast<double>(m_weights[packets]);
    }
    return total > 0 ? weightedSum / total : 0;
}

uint32_t
PacketDistribution::Quantile(double share) const
{
    const int64_t total = std::accumulate(m_weights.begin(), m_weights.end(), int64_t{0});
    int64_t seen = 0;
    for (size_t packets = 0; packets < m_weights.size(); ++packets)
    {
        seen += m_weights[packets];
        if (static_cast<double>(seen) >= share * static_cast<double>(total))
        {
            return static_cast<uint32_t>(packets);
        }
    }
    return Maximum();
}

uint32_t
PacketDistribution::Maximum() const
{
    return m_weights.empty() ? 0 : static_cast<uint32_t>(m_weights.size() - 1);
}

} // namespace validation
