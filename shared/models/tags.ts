/**
 * Tags are key-value pairs that a bot and its integrations set on users, conversations and messages. They are stored as
 * the bot sees them: its own under their keys, those of an integration as `alias:key`. An integration sees only its
 * own, under their keys.
 */

/** The viewer of tags: an installed integration, or the bot when there is none. A `BotCaller` is a viewer. */
export interface Viewer {
  installation?: { alias: string }
}

export type Tags = Record<string, string>

/** Tags in output. */
export const tags = { type: 'object', additionalProperties: { type: 'string' } } as const

const names = { type: 'string', minLength: 1, maxLength: 200 } as const

/** Upper bound of the keys per request. */
const most = 100

/** Tags in input. */
export const tagsInput = {
  type: 'object',
  maxProperties: most,
  propertyNames: names,
  additionalProperties: { type: 'string', maxLength: 500 },
} as const

/** Changes of tags: null or empty values remove a tag, and omitted tags stay. */
export const changedTags = {
  type: 'object',
  maxProperties: most,
  propertyNames: names,
  additionalProperties: { type: ['string', 'null'], maxLength: 500 },
} as const

/** The keys of the tags by which a resource is recognised; by default all tags. */
export const discriminateByTags = {
  type: 'array',
  maxItems: most,
  items: { type: 'string' },
  description: 'The keys of the tags that identify an existing row; default: all given tags.',
} as const

/** The prefix of a viewer's tags. */
function prefixOf({ installation }: Viewer): string {
  return installation ? `${installation.alias}:` : ''
}

/** Converts stored tags to those that a viewer sees. */
export function toSeenTags(viewer: Viewer, stored: Tags): Tags {
  const prefix = prefixOf(viewer)
  if (prefix === '') return stored
  const own = Object.entries(stored).filter(([key]) => key.startsWith(prefix))
  return Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]))
}

/** Converts a viewer's tags to the stored form. */
export function toStoredTags(viewer: Viewer, given: Record<string, string | null> = {}): Tags {
  return toChange(viewer, given).set
}

/** A change of stored tags or properties. */
export interface Change {
  set: Record<string, string>
  removed: string[]
}

/**
 * Converts a viewer's changes to a change of the stored tags; for properties, which have no prefix, the viewer is `{}`.
 */
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

/** Whether a change has no effect. */
export function isSettled(stored: Record<string, string>, { set, removed }: Change): boolean {
  return (
    Object.entries(set).every(([key, value]) => stored[key] === value) &&
    removed.every((key) => !Object.hasOwn(stored, key))
  )
}

/** The stored tags after a change. */
export function changeTags(stored: Tags, { set, removed }: Change): Tags {
  return Object.fromEntries(Object.entries({ ...stored, ...set }).filter(([key]) => !removed.includes(key)))
}

/** The tags by which a resource is recognised. */
export interface TagMatch {
  present: Tags
  absent: string[]
  /** Set when the viewer's tags must be exactly `present`. */
  onlyOf?: { prefix: string }
}

/**
 * The tags by which an existing resource equals a given one; undefined when there are no tags to compare, so that the
 * resource is always new.
 *
 * @param discriminators the keys to compare, as the viewer names them; by default all
 */
export function toMatch(
  viewer: Viewer,
  given: Record<string, string | null>,
  discriminators?: string[],
): TagMatch | undefined {
  const prefix = prefixOf(viewer)
  // Sorted, since the creation is serialised under a key made of these tags.
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
