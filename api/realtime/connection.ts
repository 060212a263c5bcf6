/** An open stream to one client, whichever protocol it speaks. */
export interface Connection {
  /** Sends a text; its id is what the client names when it connects again. */
  send(text: string, id?: string): void
  /** Bytes that the client has not taken yet. */
  unreadBytes(): number
  /** Resolves when the client has taken nearly everything, or has gone. */
  drained(): Promise<void>
  /** Says good-bye. */
  end(): void
  /** Cuts the client off. */
  destroy(): void
  isClosed(): boolean
  /** Calls back when the client has gone, for whatever reason. */
  onClose(callback: () => void): void
}
