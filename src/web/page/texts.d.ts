/** The build inlines these files as texts. */
declare module '*.yaml' {
  const text: string;
  export default text;
}
