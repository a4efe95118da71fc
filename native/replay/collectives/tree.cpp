#include "replay/collectives/tree.hpp"

#include <algorithm>

namespace wulf::replay {
namespace {

/// The vector by segments; at least one, so that a message without a byte is still one.
Blocks segments_of(const Call& call) {
  if (call.segment == 0 || call.bytes <= call.segment) {
    return Blocks::split(call.bytes, 1);
  }
  const std::uint64_t segments = (call.bytes + call.segment - 1) / call.segment;
  return Blocks::split(call.bytes, static_cast<int>(segments));
}

}  // namespace

Tree knomial_tree(const Call& call, int radix) {
  Tree tree;
  const int turned = call.turned();
  std::int64_t unit = 1;
  while (unit < call.size && turned / unit % radix == 0) {
    unit *= radix;
  }
  if (turned != 0) {
    tree.parent = call.rank_of(static_cast<int>(turned - (turned / unit % radix * unit)));
  }
  for (unit /= radix; unit >= 1; unit /= radix) {
    for (int digit = 1; digit < radix; ++digit) {
      const std::int64_t child = turned + (digit * unit);
      if (child < call.size) {
        tree.children.push_back(call.rank_of(static_cast<int>(child)));
      }
    }
  }
  return tree;
}

Tree binomial_tree(const Call& call) { return knomial_tree(call, 2); }

Tree binary_tree(const Call& call) {
  Tree tree;
  const std::int64_t turned = call.turned();
  std::int64_t width = 1;  // ranks on this rank's level, the level being [width - 1, 2 · width - 2]
  while ((2 * width) - 2 < turned) {
    width *= 2;
  }
  if (turned != 0) {
    const std::int64_t step = width / 2;
    tree.parent = call.rank_of(static_cast<int>(turned - (turned - step >= width - 1 ? 2 * step : step)));
  }
  for (const std::int64_t child : {turned + width, turned + (2 * width)}) {
    if (child < call.size) {
      tree.children.push_back(call.rank_of(static_cast<int>(child)));
    }
  }
  return tree;
}

Tree chain_tree(const Call& call) {
  Tree tree;
  const int turned = call.turned();
  if (turned > 0) {
    tree.parent = call.rank_of(turned - 1);
  }
  if (turned + 1 < call.size) {
    tree.children.push_back(call.rank_of(turned + 1));
  }
  return tree;
}

Tree linear_tree(const Call& call) {
  Tree tree;
  if (call.me != call.root) {
    tree.parent = call.root;
    return tree;
  }
  for (int each = 1; each < call.size; ++each) {
    tree.children.push_back(call.rank_of(each));
  }
  return tree;
}

void broadcast_along(const Tree& tree, const Call& call, Steps& steps) {
  const Blocks segments = segments_of(call);
  std::vector<Steps::Token> sends;
  Steps::Token next = 0;
  const auto receive = [&](int segment) {
    next = steps.receive(tree.parent, segments.block(Room::kResult, segment));
  };
  if (tree.parent >= 0) {
    receive(0);
  }
  for (int segment = 0; segment < segments.count(); ++segment) {
    if (tree.parent >= 0) {
      const Steps::Token here = next;
      if (segment + 1 < segments.count()) {
        receive(segment + 1);
      }
      steps.wait(here);
    }
    steps.wait_all(sends);
    sends.clear();
    for (const int child : tree.children) {
      sends.push_back(steps.send(child, segments.block(Room::kResult, segment)));
    }
  }
  steps.wait_all(sends);
}

void reduce_along(const Tree& tree, const Call& call, Steps& steps) {
  const Blocks segments = segments_of(call);
  steps.copy({Room::kInput, 0, call.bytes}, {Room::kResult, 0, call.bytes});
  const auto children = static_cast<int>(tree.children.size());
  for (int segment = 0; segment < segments.count(); ++segment) {
    const std::uint64_t size = segments.size(segment);
    std::vector<Steps::Token> receives;
    for (int child = children - 1; child >= 0; --child) {  // the smallest subtree is done first
      const std::uint64_t begin = size * static_cast<std::uint64_t>(child);
      receives.push_back(steps.receive(tree.children[static_cast<std::size_t>(child)],
                                       {Room::kScratch, begin, begin + size}));
    }
    for (int child = children - 1; child >= 0; --child) {
      const std::uint64_t begin = size * static_cast<std::uint64_t>(child);
      steps.wait(receives[static_cast<std::size_t>(children - 1 - child)]);
      steps.reduce({Room::kScratch, begin, begin + size}, segments.block(Room::kResult, segment));
    }
    if (tree.parent >= 0) {
      steps.send_now(tree.parent, segments.block(Room::kResult, segment));
    }
  }
}

void scatter_down(const Call& call, const Blocks& blocks, Room room, Steps& steps) {
  const int turned = call.turned();
  std::int64_t span = 1;  // ranks of this rank's subtree, were there enough
  while (span < call.size && turned % (2 * span) == 0) {
    span *= 2;
  }
  const auto up_to = [&](std::int64_t end) {
    return static_cast<int>(std::min<std::int64_t>(end, call.size));
  };
  if (turned != 0) {
    steps.receive_now(call.rank_of(static_cast<int>(turned - span)),
                      blocks.part(room, turned, up_to(turned + span)));
  }
  for (std::int64_t half = span / 2; half >= 1; half /= 2) {
    const std::int64_t child = turned + half;
    if (child < call.size) {
      steps.send_now(call.rank_of(static_cast<int>(child)),
                     blocks.part(room, static_cast<int>(child), up_to(child + half)));
    }
  }
}

}  // namespace wulf::replay
