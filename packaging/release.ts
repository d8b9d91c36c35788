/** `make release`: writes everything that a release needs to `release/`. Two runs of one commit write the same bytes. */
console.log('nothing yet');
