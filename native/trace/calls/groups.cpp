#include "trace/calls/groups.hpp"

#include <algorithm>
#include <cstdlib>

#include "trace/calls/handles.hpp"
#include "trace/calls/recording.hpp"

namespace wulf::trace {

namespace {

Group* world_group = nullptr;
Group* self_group = nullptr;
MPI_Group all = MPI_GROUP_NULL;  ///< of MPI_COMM_WORLD
HandleMap comms;
HandleMap windows;
std::int32_t next_comm = self + 1;
std::int32_t next_window = 0;
MPI_Comm last_comm = MPI_COMM_NULL;
Group* last_group = nullptr;

template <typename Made>
Made* made_of(std::uint64_t value) {
  return reinterpret_cast<Made*>(value);  // NOLINT(performance-no-int-to-ptr) - it was one
}

template <typename Made>
Made* allocate() {
  auto* made = static_cast<Made*>(std::malloc(sizeof(Made)));
  if (made != nullptr) {
    *made = Made{};
  }
  return made;
}

/// Null where rank i is rank i: that takes no memory, and no look.
std::int32_t* unless_same(std::int32_t* ranks, int size) {
  for (int i = 0; i < size; i++) {
    if (ranks[i] != i) {
      return ranks;
    }
  }
  std::free(ranks);
  return nullptr;
}

std::int32_t* copied(const std::int32_t* ranks, int size) {
  if (ranks == nullptr) {
    return nullptr;
  }
  auto* copy = static_cast<std::int32_t*>(std::malloc(static_cast<std::size_t>(size) * sizeof(std::int32_t)));
  if (copy != nullptr) {
    std::copy(ranks, ranks + size, copy);
  }
  return copy;
}

void take_members(MPI_Group group, std::int32_t*& ranks, int& size) {
  std::int32_t* found = members_of(group, &size);
  size = found == nullptr ? 0 : size;
  ranks = found == nullptr ? nullptr : unless_same(found, size);
  PMPI_Group_free(&group);
}

void take_all_members(MPI_Comm comm, Group& made) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  take_members(group, made.own, made.own_size);
  made.world = made.own;
  made.size = made.own_size;
  if (made.two_sides) {
    PMPI_Comm_remote_group(comm, &group);
    take_members(group, made.world, made.size);
  }
}

void free_group(Group* group) {
  if (group->world != group->own) {
    std::free(group->world);
  }
  std::free(group->own);
  std::free(group);
}

}  // namespace

std::int32_t* members_of(MPI_Group group, int* size) {
  PMPI_Group_size(group, size);
  const auto count = static_cast<std::size_t>(*size);
  auto* ranks = static_cast<std::int32_t*>(std::malloc((count + 1) * sizeof(std::int32_t)));
  auto* own = static_cast<int*>(std::malloc((count + 1) * sizeof(int)));
  if (ranks != nullptr && own != nullptr) {
    for (int i = 0; i < *size; i++) {
      own[i] = i;
    }
    PMPI_Group_translate_ranks(group, *size, own, all, ranks);
    std::replace_if(
        ranks, ranks + *size, [](std::int32_t rank) { return rank < 0; }, elsewhere);
  }
  const bool done = ranks != nullptr && own != nullptr;
  std::free(own);
  if (!done) {
    std::free(ranks);
  }
  return done ? ranks : nullptr;
}

bool learn_world() {
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  world_group = allocate<Group>();
  self_group = allocate<Group>();
  auto* me = static_cast<std::int32_t*>(std::malloc(sizeof(std::int32_t)));
  if (world_group == nullptr || self_group == nullptr || me == nullptr) {
    std::free(me);
    return false;
  }
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_group->rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_group->size);
  world_group->own_size = world_group->size;
  *me = world_group->rank;
  self_group->number = self;
  self_group->size = 1;
  self_group->own_size = 1;
  self_group->own = me;
  self_group->world = me;
  comms.insert(key_of(MPI_COMM_SELF), reinterpret_cast<std::uint64_t>(self_group));
  return true;
}

Group* group_of(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) {
    return world_group;
  }
  if (comm == MPI_COMM_NULL) {
    return nullptr;
  }
  if (comm != last_comm) {
    const HandleMap::Slot* slot = comms.find(key_of(comm));
    last_group = slot == nullptr ? nullptr : made_of<Group>(slot->value);
    if (last_group == nullptr) {
      last_group = learn(comm, nullptr);
      note_found(last_group);
    }
    last_comm = last_group == nullptr ? MPI_COMM_NULL : comm;
  }
  return last_group;
}

Group* learn(MPI_Comm comm, const Group* like) {
  Group* made = comm == MPI_COMM_NULL ? nullptr : allocate<Group>();
  if (made == nullptr) {
    return nullptr;
  }
  if (like == nullptr) {
    int two_sides = 0;
    PMPI_Comm_test_inter(comm, &two_sides);
    made->two_sides = two_sides != 0;
    PMPI_Comm_rank(comm, &made->rank);
    take_all_members(comm, *made);
  } else {  // translating ranks takes time with the square of their number: a copy needs none
    *made = *like;
    made->own = copied(like->own, like->own_size);
    made->world = like->two_sides ? copied(like->world, like->size) : made->own;
  }
  made->users = 1;
  made->number = next_comm++;
  comms.insert(key_of(comm), reinterpret_cast<std::uint64_t>(made));
  return made;
}

void forget(MPI_Comm comm) {
  HandleMap::Slot* slot = comms.find(key_of(comm));
  if (slot == nullptr) {
    return;
  }
  auto* gone = made_of<Group>(slot->value);
  comms.erase(slot);
  last_comm = MPI_COMM_NULL;
  last_group = nullptr;
  release(gone);
}

void retain(Group* group) {
  if (group != nullptr) {
    group->users++;
  }
}

void release(Group* group) {
  if (group != nullptr && --group->users == 0) {
    free_group(group);
  }
}

Window* window_of(MPI_Win win) {
  const HandleMap::Slot* slot = windows.find(key_of(win));
  return slot == nullptr ? nullptr : made_of<Window>(slot->value);
}

Window* learn_window(MPI_Win win, MPI_Comm comm) {
  auto* made = win == MPI_WIN_NULL ? nullptr : allocate<Window>();
  if (made != nullptr) {
    made->number = next_window++;
    made->group = group_of(comm);
    retain(made->group);
    windows.insert(key_of(win), reinterpret_cast<std::uint64_t>(made));
  }
  return made;
}

void forget_window(MPI_Win win) {
  HandleMap::Slot* slot = windows.find(key_of(win));
  if (slot == nullptr) {
    return;
  }
  auto* gone = made_of<Window>(slot->value);
  windows.erase(slot);
  release(gone->group);
  std::free(gone);
}

}  // namespace wulf::trace
