/**
 * The name of the function that takes the place of `import` in bundles of the public SDK. It is as long, so that positions in the code
 * stay the same.
 */
export const importName = '$impor'
