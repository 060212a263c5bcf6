import type { Dispatch } from '../isolate/kernel.ts'
import type { Context, Reference, Transferable } from './isolated-vm.ts'
import type { TurnOwner, Turns } from './turn.ts'

/** A context of an isolate, with its own kernel and its own evaluation of the bundle. */
export class Realm {
  readonly #turns: Turns
  readonly #context: Context
  /** Set while the realm is opened. */
  entrance: Reference<Dispatch> | undefined

  constructor(turns: Turns, context: Context) {
    this.#turns = turns
    this.#context = context
  }

  /** Runs an operation of the kernel, in a turn. */
  dispatch(owner: TurnOwner, operation: string, id: string, ...texts: string[]): void {
    this.#turns.enter(owner, () => this.entrance?.apply(undefined, [operation, id, ...texts]))
  }

  /** As `dispatch`, with bytes in a buffer of the isolate's own. The buffer is made when the turn begins. */
  dispatchBytes(owner: TurnOwner, operation: string, id: string, bytes: () => Transferable, ...texts: string[]): void {
    this.#turns.enter(owner, () =>
      this.entrance?.apply(undefined, [operation, id, bytes(), ...texts]).catch((error: unknown) => {
        if (isOutOfBuffers(error)) owner.exceeded('memory')
        throw error
      }),
    )
  }

  /** Releases the context to V8. No dispatch has an effect afterwards. */
  release(): void {
    this.entrance?.release()
    this.entrance = undefined
    this.#context.release()
  }
}

/** Whether isolated-vm could not allocate a buffer in the isolate. */
function isOutOfBuffers(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Array buffer allocation failed'
}
