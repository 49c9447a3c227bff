/**
 * Tests of the whole: real processes of the packaged distribution, real sockets, real faults.
 *
 * <p>Each fault that users of such systems reported is a test here. A guard that is named below was
 * removed once, and the test seen red without it. An occupied port (BB-24) is refused by more than
 * one check, so that none of them alone is its guard.
 *
 * <table>
 * <caption>Reported faults, the tests of them, and what each guards</caption>
 * <tr><th>fault</th><th>test</th><th>guard</th></tr>
 * <tr><td>BB-01 abort, then reuse</td>
 *     <td>{@code LateBytesTest.pagesReusedAfterAnAbortKeepTheirBytes},
 *         {@code pagesThatAStuckCallCanStillWriteAreGivenToNobody}</td>
 *     <td>the ticket's gate at every entry into its destination; the hold of a ticket</td></tr>
 * <tr><td>BB-03 one release for two readers</td>
 *     <td>{@code ReaderKilledTest.twoReadersOfOneBlockAreTwoHolds}</td>
 *     <td>a hold for each grant</td></tr>
 * <tr><td>BB-05 partial failure</td>
 *     <td>{@code BrokenStreamTest.partThatFailsEndsTheReadWhenTheOthersHaveLeft},
 *         {@code cutAnywhereIsAMissAndTheNextReadConnectsAgain}</td>
 *     <td>{@code TcpTicket.settle} by whoever drains the gate only</td></tr>
 * <tr><td>BB-06 cancel storm</td>
 *     <td>{@code CancelStormTest}</td>
 *     <td>{@code PartRead.abandon} and {@code finish}, {@code TcpTicket.receipt}, {@code
 *         ManagerClient.close}</td></tr>
 * <tr><td>BB-07 deadline</td>
 *     <td>{@code LateBytesTest.deadlineAnswersAndTheRangeStaysHeldUntilItsReceipt}</td>
 *     <td>{@code DrainCoordinator} ends destination holds, and nobody else</td></tr>
 * <tr><td>BB-08 right ends during the read</td>
 *     <td>{@code LeaseEndsTest}, {@code LateReaderTest} (EXPIRY),
 *         {@code EngineKilledTest.expiryForbidsReadsAndUnpinsNothing}</td>
 *     <td>{@code GrantAuthority.expire}, {@code Gate.enter}</td></tr>
 * <tr><td>BB-09 stale generation</td>
 *     <td>{@code HostileRequesterTest.grantIsGoodForItsRequesterAndUntilItsEndOnly}</td>
 *     <td>{@code GrantTable.remove}, {@code TcpSourceHold.enter}</td></tr>
 * <tr><td>BB-10 hostile request</td>
 *     <td>{@code HostileRequesterTest}; another epoch: {@code OwnerKilledTest}</td>
 *     <td>the checked sums of {@code ReadFrame}, {@code TcpSourceHold.enter}; for the memory {@code
 *         OwnerConnection}</td></tr>
 * <tr><td>BB-11 corruption</td>
 *     <td>{@code CorruptedBytesTest}</td>
 *     <td>{@code PartRead.finish} comparing digests; {@code ReplyReader} and {@code ProgressWatch} for
 *         what is short</td></tr>
 * <tr><td>BB-13 reader killed</td>
 *     <td>{@code ReaderKilledTest.ownerFreesItsGrantsAndServesOthers}</td>
 *     <td>{@code GrantAuthority.peerLost}</td></tr>
 * <tr><td>BB-13, BB-15, BB-21 killed at any byte</td>
 *     <td>{@code KilledAtAnyPointTest}</td>
 *     <td>{@code GrantAuthority.peerLost}, {@code Lane.down}</td></tr>
 * <tr><td>BB-14 restart at the same address</td>
 *     <td>{@code OwnerKilledTest.readsGoOnAsMissesAndAgainAfterItsReturn}</td>
 *     <td>{@code OwnerConnection.accept} comparing epochs</td></tr>
 * <tr><td>BB-17 one-way loss</td>
 *     <td>{@code LinkLossTest}</td>
 *     <td>{@code GrantAuthority.expire}, {@code FetchOperation.expire}, and the {@code shutdown()}
 *         behind either</td></tr>
 * <tr><td>BB-18 the cache is optional</td>
 *     <td>{@code OwnerKilledTest}</td>
 *     <td>{@code PartRead.abandon}, for a read that hangs; one that fails is a miss by more than one
 *         way</td></tr>
 * <tr><td>BB-19 long idle</td>
 *     <td>{@code LongIdleTest}</td>
 *     <td>{@code ProgressWatch}, the keep-alive of the control stream</td></tr>
 * <tr><td>BB-24, BB-26 ports and addresses</td>
 *     <td>{@code BadInputTest.addressesThatDoNotWorkAreRefused}, {@code ManagerCommandTest}</td>
 *     <td>{@code ConfigurationChecks}</td></tr>
 * <tr><td>BB-27 partial registration</td>
 *     <td>{@code PoolRegistrationsTest} of the module manager</td>
 *     <td>{@code PoolRegistrations} rolling back</td></tr>
 * <tr><td>BB-29 engine killed</td>
 *     <td>{@code EngineKilledTest}</td>
 *     <td>{@code ProcessWatch}; a copy holds its mapping</td></tr>
 * <tr><td>BB-30 does not fit</td>
 *     <td>{@code LateBytesTest.blockLargerThanThePoolIsAMissAtOnce},
 *         {@code BadInputTest.blocksThatCanNotBeAreRefused}</td>
 *     <td>{@code Pool.reserve}</td></tr>
 * <tr><td>BB-31 plugin errors</td>
 *     <td>{@code PluginErrorsTest}, {@code BadInputTest.unknownBackendNamesThoseThatExist};
 *         with the catalog alone: {@code ProviderCatalogTest} of the module manager</td>
 *     <td>{@code ProviderCatalog}, {@code LoadedPlugin}, {@code PluginFault}, {@code BundledSpi}, the
 *         SPI's version</td></tr>
 * <tr><td>BB-32 IPv6</td>
 *     <td>{@code PutAndGetTest.travelsBetweenManagersOfAList}, {@code ReplayTest.twoHostsGiveTheSameResult}</td>
 *     <td>the brackets of {@code HostPort} and {@code ControlAddress}</td></tr>
 * <tr><td>BB-33 proof of the path</td>
 *     <td>{@code PathProofTest}</td>
 *     <td>{@code ReplyReader} counting payload once</td></tr>
 * <tr><td>BB-35, BB-37 mismatch, old peer</td>
 *     <td>{@code PeerMismatchTest}</td>
 *     <td>{@code GrantAuthority.accept}, {@code ControlCodec.hello}</td></tr>
 * <tr><td>late reader of an ended grant</td>
 *     <td>{@code LateReaderTest}</td>
 *     <td>{@code GrantAuthority.retire}, {@code TcpSourceHold.drained},
 *         {@code OwnerService.endStuckReplies}</td></tr>
 * </table>
 */
@NullMarked
package io.orbitkv.systemtests;

import org.jspecify.annotations.NullMarked;
