/**
 * Tags are what a bot and its integrations note on users, conversations and messages. They are stored as the bot sees
 * them: its own by their keys, an integration's as `alias:key`. An integration sees its own alone, by their keys.
 */

/** Who looks: an integration as it is installed, or, when there is none, the bot. A `BotCaller` is one. */
export interface Viewer {
  installation?: { alias: string }
}

export type Tags = Record<string, string>

/** As they are shown. */
export const tags = { type: 'object', additionalProperties: { type: 'string' } } as const

const names = { type: 'string', minLength: 1, maxLength: 200 } as const

/** How many may be named at once. */
const most = 100

/** As they are given. */
export const givenTags = {
  type: 'object',
  maxProperties: most,
  propertyNames: names,
  additionalProperties: { type: 'string', maxLength: 500 },
} as const

/** As they are changed: those that are null or empty are removed, those that are not mentioned stay. */
export const changedTags = {
  type: 'object',
  maxProperties: most,
  propertyNames: names,
  additionalProperties: { type: ['string', 'null'], maxLength: 500 },
} as const

/** Which tags have to be equal for something to be the same: those that are named here, or all. */
export const discriminateByTags = {
  type: 'array',
  maxItems: most,
  items: { type: 'string' },
  description: 'The tags by which it is found when it exists; all of them unless given.',
} as const

/** What all keys of a viewer's tags begin with. */
function prefixOf({ installation }: Viewer): string {
  return installation ? `${installation.alias}:` : ''
}

/** From how they are stored to how they are seen. */
export function toSeenTags(viewer: Viewer, stored: Tags): Tags {
  const prefix = prefixOf(viewer)
  if (prefix === '') return stored
  const own = Object.entries(stored).filter(([key]) => key.startsWith(prefix))
  return Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]))
}

/** From how they are given to how they are stored. */
export function toStoredTags(viewer: Viewer, given: Record<string, string | null> = {}): Tags {
  return toChange(viewer, given).set
}

/** A change of what is stored. */
export interface Change {
  set: Record<string, string>
  removed: string[]
}

/** What changes of tags mean for what is stored; for properties, which all see alike, the viewer is `{}`. */
export function toChange(viewer: Viewer, changes: Record<string, string | null> = {}): Change {
  const prefix = prefixOf(viewer)
  const set: [string, string][] = []
  const removed: string[] = []
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') removed.push(prefix + key)
    else set.push([prefix + key, value])
  }
  return { set: Object.fromEntries(set), removed }
}

/** Whether a change would leave what is stored as it is. */
export function isSettled(stored: Record<string, string>, { set, removed }: Change): boolean {
  return (
    Object.entries(set).every(([key, value]) => stored[key] === value) &&
    removed.every((key) => !Object.hasOwn(stored, key))
  )
}

/** By which tags something is recognised. */
export interface TagMatch {
  present: Tags
  absent: string[]
  /** Set when a viewer's tags have to be these and no others. */
  onlyOf?: { prefix: string }
}

/**
 * By which tags something that is given exists already; undefined when there is nothing to compare, so that it is always
 * new.
 *
 * @param discriminators the keys to compare, as the viewer calls them; all unless given
 */
export function toMatch(
  viewer: Viewer,
  given: Record<string, string | null>,
  discriminators?: string[],
): TagMatch | undefined {
  const prefix = prefixOf(viewer)
  // In one order whatever the given, since whoever creates it is the only one to do so under a name made of these.
  const stored = Object.fromEntries(Object.entries(toStoredTags(viewer, given)).toSorted(byKey))
  const compared = discriminators?.map((key) => prefix + key)
  const present = compared
    ? Object.fromEntries(Object.entries(stored).filter(([key]) => compared.includes(key)))
    : stored
  if (Object.keys(present).length === 0) return undefined
  if (compared) return { present, absent: compared.filter((key) => !Object.hasOwn(present, key)) }
  return { present, absent: [], onlyOf: { prefix } }
}

function byKey([one]: [string, string], [other]: [string, string]): number {
  return one < other ? -1 : 1
}
