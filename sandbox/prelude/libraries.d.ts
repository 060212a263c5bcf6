/** Types of the used parts of libraries without declarations. */

declare module 'path-browserify' {
  const path: object
  export default path
}
