/** The severity of a finding: as expected; degraded, but the platform works; or the platform does not work. */
export type Grade = 'ok' | 'warn' | 'fail'

/** One result of a check. */
export interface Finding {
  /** The part that was checked, for instance `Database`. */
  area: string
  grade: Grade
  /** The observed state. */
  message: string
  /** The action that corrects it, where one is needed. */
  remedy?: string
}

/** Makes the findings of one area. */
export function findingsOf(area: string) {
  return {
    ok: (message: string): Finding => ({ area, grade: 'ok', message }),
    warn: (message: string, remedy: string): Finding => ({ area, grade: 'warn', message, remedy }),
    fail: (message: string, remedy: string): Finding => ({ area, grade: 'fail', message, remedy }),
  }
}
