/**
 * A signal that aborts at the first Ctrl-C or SIGTERM, so that a command that goes on until it is stopped ends in order.
 * The second one ends the process at once. Disposing takes the listeners away.
 */
export function untilInterrupted(): { signal: AbortSignal } & Disposable {
  const controller = new AbortController()
  const names = ['SIGINT', 'SIGTERM'] as const
  const stopListening = () => {
    for (const name of names) process.off(name, interrupt)
  }
  function interrupt(): void {
    stopListening()
    controller.abort()
  }
  for (const name of names) process.on(name, interrupt)
  return { signal: controller.signal, [Symbol.dispose]: stopListening }
}
