import type { CodeSuspension } from '#sandbox/protocol/contract.ts'
import type { Context } from '#shared/context.ts'
import { disableCode } from '#shared/store/disabled-code.ts'
import { insertLog } from '#shared/store/logs.ts'
import { NotRunnable } from '../calls/call.ts'

export interface CodeSuspensions {
  /** Stores a suspension for all workers, and writes it to the bot's log. */
  keep(suspension: CodeSuspension): void
  /** Resolves when all suspensions are stored. */
  settled(): Promise<void>
}

export function openCodeSuspensions({ db, log }: Pick<Context, 'db' | 'log'>): CodeSuspensions {
  const writing = new Set<Promise<void>>()

  const write = async (suspension: CodeSuspension) => {
    const { botId, installationId, placement: place, reason } = suspension
    const isDisabled = place === 'disabled'
    try {
      if (isDisabled) await disableCode(db, suspension)
      const whose = installationId === undefined ? '' : `Integration installed as ${installationId}: `
      const level = isDisabled ? 'error' : 'warn'
      await insertLog(db, { botId, installationId, level, message: `${whose}${reason}` })
    } catch (error) {
      log.error({ err: error, ...suspension }, 'Storing a suspension of code failed')
    }
  }

  return {
    keep(suspension) {
      const written = write(suspension).finally(() => writing.delete(written))
      writing.add(written)
    },
    async settled() {
      await Promise.all(writing)
    },
  }
}

/** @throws NotRunnable with the reason when the code is suspended */
export function refuseDisabled(reason: string | null): void {
  if (reason !== null) throw new NotRunnable('crashed', reason)
}
