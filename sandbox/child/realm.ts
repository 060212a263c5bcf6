import type { Dispatch } from '../isolate/kernel.ts'
import type { Context, Reference, Transferable } from './isolated-vm.ts'
import type { TurnOwner, Turns } from './turn.ts'

/** A context of an isolate, with a kernel and an evaluation of the bundle of its own. */
export class Realm {
  readonly #turns: Turns
  readonly #context: Context
  /** Ours to set while it is opened. */
  entrance: Reference<Dispatch> | undefined

  constructor(turns: Turns, context: Context) {
    this.#turns = turns
    this.#context = context
  }

  /** Has the kernel do something, in a turn. */
  dispatch(owner: TurnOwner, operation: string, id: string, ...texts: string[]): void {
    this.#turns.enter(owner, () => this.entrance?.apply(undefined, [operation, id, ...texts]))
  }

  /** Likewise with bytes, which the isolate gets in a buffer of its own. They are made when the turn begins. */
  dispatchBytes(owner: TurnOwner, operation: string, id: string, bytes: () => Transferable, ...texts: string[]): void {
    this.#turns.enter(owner, () =>
      this.entrance?.apply(undefined, [operation, id, bytes(), ...texts]).catch((error: unknown) => {
        if (isOutOfBuffers(error)) owner.exceeded('memory')
        throw error
      }),
    )
  }

  /** Lets V8 have it back. Nothing is dispatched any more. */
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
