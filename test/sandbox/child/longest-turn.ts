/**
 * Watches how long the event loop of this process is busy without a break, until it is stopped. Processor time counts, so
 * that it does not matter how busy the machine is.
 *
 * @returns stops it, and tells the longest turn in milliseconds
 */
export function watchTurns(): () => number {
  let longest = 0
  let before = process.threadCpuUsage()
  let isWatching = true
  const look = () => {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, (user + system) / 1000)
    before = process.threadCpuUsage()
    if (isWatching) setImmediate(look)
  }
  look()
  return () => {
    isWatching = false
    return longest
  }
}
