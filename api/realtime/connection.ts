/** An open stream to one client, over either protocol. */
export interface Connection {
  /** Sends a text with an id, which the client sends back when it reconnects. */
  send(text: string, id?: string): void
  /** Bytes that the client has not received yet. */
  unreadBytes(): number
  /** Resolves when the client has received nearly everything, or has disconnected. */
  drained(): Promise<void>
  /** Closes the stream in an orderly way. */
  end(): void
  /** Closes the connection at once. */
  destroy(): void
  isClosed(): boolean
  /** Calls back when the connection is closed, whatever the reason. */
  onClose(callback: () => void): void
}
