/** The global `process`, for scripts that are loaded after it is defined. */
export const process = (globalThis as unknown as { process: object }).process
