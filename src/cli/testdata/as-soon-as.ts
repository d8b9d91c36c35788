/** Does something once a condition holds, as somebody would who watches what a command writes; how fast the command is does not matter. */
export function asSoonAs(holds: () => boolean, act: () => void): void {
  const timer = setInterval(() => {
    if (!holds()) return;
    clearInterval(timer);
    act();
  }, 2).unref();
}
