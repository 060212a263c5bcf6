/**
 * One sentence when only some of the variables that belong together are set.
 *
 * @param names two or three
 */
export function incomplete<Name extends string>(
  given: { readonly [name in Name]?: unknown },
  names: readonly Name[],
): string[] {
  const missing = names.filter((name) => given[name] === undefined)
  if (missing.length === 0 || missing.length === names.length) return []
  const present = names.filter((name) => !missing.includes(name))
  const all = names.length === 2 ? 'both' : 'all three'
  return [`${present.join(' and ')} is set without ${missing.join(' and ')}: set ${all}, or none`]
}
