/** The key of a preference, in a path. */
export const preferenceKey = {
  type: 'string',
  pattern: '^[\\w.:-]{1,100}$',
  description: 'Letters, digits, _, -, . and :.',
} as const

/** A JSON value of any type. */
export const preferenceValue = {
  description: 'A JSON value of any type. Absent: there is none.',
} as const

/** Upper bound of a value, in characters of its JSON, and of the number of preferences of an account or a workspace. */
export const maxPreferenceCharacters = 65_536
export const maxPreferences = 100
