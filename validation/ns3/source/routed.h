// A network of equal links in which every flow's packets take given paths, its acknowledgements
// included.
#pragma once

#include "network.h"
#include "settings.h"

namespace validation
{

// Reads the paths from `settings.paths`: two lines for each flow, the names of the nodes that its
// data pass, and of those that its acknowledgements pass. Nodes that follow each other are joined
// by a link. Ends the program with a message when the file is not of this form.
Network BuildRouted(const Settings& settings);

} // namespace validation
