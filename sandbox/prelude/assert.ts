/** The part of Node's `assert` with which HTTP libraries check their own state. */
export const assert = Object.assign(ok, { ok, equal: strictEqual, strictEqual, AssertionError: Error })

function ok(value: unknown, message?: unknown): void {
  if (!value) throw message instanceof Error ? message : new Error(`Assertion failed: ${String(message)}`)
}

function strictEqual(actual: unknown, expected: unknown, message?: unknown): void {
  ok(Object.is(actual, expected), message)
}
