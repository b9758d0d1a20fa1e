// The atoms of all arcs of a tree as a set: each once, with the candidates that have it.
#pragma once

#include "jobs/team.hpp"
#include "selection/arc_unions.hpp"
#include "selection/slot_graphs.hpp"

namespace espalier {

SlotGraphs arc_sets(const ArcUnions& sentences, Team& team);

}  // namespace espalier
