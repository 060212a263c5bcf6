/**
 * The key of a method of requests and responses that bot code does not call: it returns the content as it is. Registered,
 * because `http` is a script of its own.
 */
export const takeContent: unique symbol = Symbol.for('isobot.content') as never

/**
 * The key of a property of `Request` that the script `http` sets: requests of any method may have a body, as those of Node's
 * `http` may.
 */
export const bodyOfAnyMethod: unique symbol = Symbol.for('isobot.bodyOfAnyMethod') as never
