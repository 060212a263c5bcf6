/** Types of the used parts of libraries without declarations. */

declare module 'path-browserify' {
  const path: object
  export default path
}

declare module 'readable-stream/lib/stream.js' {
  import stream from 'node:stream'
  export default stream
}

declare module 'readable-stream/lib/stream/promises.js' {
  import promises from 'node:stream/promises'
  export default promises
}
