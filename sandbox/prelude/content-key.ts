/**
 * The key of a method of requests and responses that bot code does not call: it returns the content as it is. Registered,
 * because `http` is a script of its own.
 */
export const takeContent: unique symbol = Symbol.for('isobot.content') as never
