/** Bytes of a megabyte; `sandbox/` imports no other room, and so not `shared/units.ts`. */
export const megabyte = 1024 * 1024
