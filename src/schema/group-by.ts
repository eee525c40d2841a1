/** `Map.groupBy`, which Node 20 lacks: members by key, in their order. */
export function groupBy<K, T>(members: Iterable<T>, keyOf: (member: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const member of members) {
    const key = keyOf(member);
    const group = groups.get(key);
    if (group) group.push(member);
    else groups.set(key, [member]);
  }
  return groups;
}
