/** Instantiates QuickJS with what its package gives to the program in WebAssembly. @returns the exports of the program */
export function instantiate(imports: object): object
