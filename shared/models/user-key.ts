/** What a valid key of a chat user says. */
export interface UserKey {
  /** What the client knows the user by: an id of its own choice or the user's own. */
  externalUserId: string
  /** The one user that the platform made the key for. A key that a site signs itself names none. */
  boundUserId?: string
  /**
   * When a key was made that names no user and that an earlier version of the platform may have made. Absent where the
   * site itself must have signed it: that one is good for whoever has the id.
   */
  keyIssuedAt?: Date
  /** When the key expires, in milliseconds since 1970. */
  expiresAt?: number
}
