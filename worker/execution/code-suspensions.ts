import type { Verdict } from '#sandbox/protocol/contract.ts'
import type { Context } from '#shared/context.ts'
import { disableCode } from '#shared/store/disabled-code.ts'
import { insertLog } from '#shared/store/logs.ts'
import { Unrunnable } from '../calls/call.ts'

export interface Verdicts {
  /** Tells the author of the bot, and has all workers know what the sandbox of this one has decided. */
  keep(verdict: Verdict): void
  /** Resolves when all is written. */
  settled(): Promise<void>
}

export function openVerdicts({ db, log }: Pick<Context, 'db' | 'log'>): Verdicts {
  const writing = new Set<Promise<void>>()

  const write = async (verdict: Verdict) => {
    const { botId, installationId, place, reason } = verdict
    const isDisabled = place === 'disabled'
    try {
      if (isDisabled) await disableCode(db, verdict)
      const whose = installationId === undefined ? '' : `Integration installed as ${installationId}: `
      await insertLog(db, { botId, level: isDisabled ? 'error' : 'warn', message: `${whose}${reason}` })
    } catch (error) {
      log.error({ err: error, ...verdict }, 'What the sandbox decided about code could not be written')
    }
  }

  return {
    keep(verdict) {
      const written = write(verdict).finally(() => writing.delete(written))
      writing.add(written)
    },
    async settled() {
      await Promise.all(writing)
    },
  }
}

/** @throws Unrunnable when code was taken out of service, with the reason */
export function refuseDisabled(reason: string | null): void {
  if (reason !== null) throw new Unrunnable('crashed', reason)
}
