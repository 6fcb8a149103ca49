// Counts packet-hops: packets that have come to the end of a link, data and acknowledgements.
#pragma once

#include <cstdint>

// htsim's other headers need this one before them.
#include "config.h"

#include "loggertypes.h"
#include "network.h"
#include "pipe.h"

namespace permutation
{

// A log of htsim that every packet reports to. A packet that departs from a pipe has crossed a link.
class HopCounter : public TrafficLogger
{
  public:
    void logTraffic(Packet&, Logged& location, TrafficEvent event) override
    {
        if (event == PKT_DEPART && dynamic_cast<Pipe*>(&location) != nullptr)
        {
            ++m_hops;
        }
    }

    uint64_t Hops() const
    {
        return m_hops;
    }

  private:
    uint64_t m_hops{0};
};

} // namespace permutation
