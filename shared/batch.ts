/**
 * Turns calls for one thing into calls for many. A call goes out at once while none is under way; those that come
 * meanwhile go out together when it is back. So nothing ever waits for company, and the busier it gets, the fewer
 * statements there are.
 *
 * @param runMany does it for several at once, and answers in their order
 * @param most how many go out together
 */
export function batched<Input, Output>(
  runMany: (inputs: Input[]) => Promise<Output[]>,
  most: number,
): (input: Input) => Promise<Output> {
  let waiting: { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void }[] = []
  let isInFlight = false

  async function send(): Promise<void> {
    isInFlight = true
    while (waiting.length > 0) {
      const sent = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const outputs = await runMany(sent.map(({ input }) => input))
        for (const [index, { resolve }] of sent.entries()) resolve(outputs[index] as Output)
      } catch (error) {
        // What fails together is done one by one: one that cannot be done must not keep the others from it.
        if (sent.length === 1) sent[0]!.reject(error)
        else
          await Promise.all(
            sent.map(({ input, resolve, reject }) =>
              runMany([input]).then(([output]) => resolve(output as Output), reject),
            ),
          )
      }
    }
    isInFlight = false
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject })
      if (!isInFlight) void send()
    })
}
