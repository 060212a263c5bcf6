/** Counts the turns of the event loop in which other work could go on during an operation. */
export async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ result: Result; turns: number }> {
  let turns = 0
  let next: NodeJS.Immediate
  const count = () => {
    turns += 1
    next = setImmediate(count)
  }
  next = setImmediate(count)
  try {
    const result = await work()
    return { result, turns }
  } finally {
    clearImmediate(next)
  }
}
