/** The number of calls under way, so that the API server stays responsive for others. */
const width = 8;

/** Calls a function for each item, at most `width` at a time. */
export async function inParallel<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const one = async (): Promise<void> => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: width }, one));
}
