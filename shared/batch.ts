/**
 * Combines single calls into batches. A call is sent at once while none is in flight; calls that arrive meanwhile are
 * sent together when it has returned. No call waits to fill a batch, and a higher load makes fewer statements.
 *
 * @param runMany processes several inputs, and returns their outputs in the same order
 * @param most upper bound of a batch
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
        // Inputs that failed together are retried one by one, so that one invalid input does not fail the others.
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
