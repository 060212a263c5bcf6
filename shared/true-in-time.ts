/** @returns the answer, or false where there is none within so many milliseconds; the work behind it goes on */
export async function trueInTime(answer: Promise<boolean>, milliseconds: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), milliseconds)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
