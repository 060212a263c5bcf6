/** The claims of a chat user's valid key. */
export interface UserKey {
  /** The id that the client uses for the user: an external id or the internal one. */
  externalUserId: string
  /** The user for whom the platform made the key. Absent in a key that a site signed itself. */
  boundUserId?: string
  /**
   * The time of a key that names no user and may come from an earlier version of the platform. Absent when only the
   * site itself can have signed the key, which is then valid for the user of its id, whenever created.
   */
  keyIssuedAt?: Date
  /** When the key expires, in milliseconds since 1970. */
  expiresAt?: number
}
