/** Libraries whose packages tell no types, as far as they are used here. */

declare module 'path-browserify' {
  const path: object
  export default path
}
