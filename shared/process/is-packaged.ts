/** Whether this is the published package, which has JavaScript, and not the repository, which has TypeScript. */
export const isPackaged = import.meta.filename.endsWith('.js')
