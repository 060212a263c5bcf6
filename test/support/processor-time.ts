/**
 * What some work takes of the processor in this thread, in milliseconds: however busy the machine is, it is the same.
 *
 * @param work done in this thread; what it waits for does not count
 */
export async function processorMilliseconds(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** The least that some work takes of the processor in several tries, in milliseconds. */
export async function minProcessorMilliseconds(work: () => unknown): Promise<number> {
  const tries: number[] = []
  for (let count = 0; count < 5; count++) tries.push(await processorMilliseconds(work))
  return Math.min(...tries)
}
