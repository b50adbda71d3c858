#!/usr/bin/env python3
"""`weyl serve` asked by i-PI and by ASE, and what is no conversation. See suite.py for how it is run."""
import suite

suite.start()

import json
import os
import random
import socket
import struct
import subprocess
import sys
import unittest

import ase.io
import numpy as np
import waters
from ase.calculators.socketio import SocketIOCalculator

INPUT = """<simulation verbosity="quiet">
  <output prefix="out">
    <properties filename="energies" stride="1">[step, conserved, potential, kinetic_md, pressure_cv]</properties>
    {extras}
  </output>
  <total_steps>{steps}</total_steps>
  <prng><seed>1</seed></prng>
  {forcefields}
  <system>
    <initialize nbeads="{beads}">
      <file mode="ase">start.extxyz</file>
      <velocities mode="thermal" units="kelvin">300</velocities>
    </initialize>
    <forces><force forcefield="weyl"/></forces>
    <ensemble><temperature units="kelvin">300</temperature></ensemble>
    <motion mode="dynamics"><dynamics mode="nve"><timestep units="femtosecond">0.25</timestep></dynamics></motion>
  </system>
</simulation>
"""
SOCKET = """<ffsocket name="{name}" mode="{mode}" pbc="False">
    <address>{address}</address><port>{port}</port><latency>1e-4</latency>{more}
  </ffsocket>"""


def free_port():
    """A port that nobody has, below those that the system hands to whoever asks for any: mpirun of a test beside this one does."""
    while True:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.randrange(20000, 32000)))
                return s.getsockname()[1]
            except OSError:
                pass


class Serve(suite.Test):
    def setUp(self):
        super().setUp()
        self.atoms = waters.box(2, skewed=True)
        self.atoms.rattle(0.02, seed=0)
        ase.io.write(self.folder / "start.extxyz", self.atoms)
        self.atoms = ase.io.read(self.folder / "start.extxyz")  # to as many digits as the file has

    def serve(self, address, *models, **more):
        return subprocess.Popen([suite.BUILD / "bin" / "weyl", "serve", *(suite.MODELS / m for m in models), "--template", "start.extxyz", "--ipi", address,
                                 "--dtype", "float64", "--threads", "1", "--json"], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def served(self, process):
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        return json.loads(out)["structures"]

    def i_pi(self, forcefields, address, *models, beads=1, steps=20, extras=""):
        """Runs i-PI beside `weyl serve`; the lines of its output, and how many structures were asked about."""
        (self.folder / "input.xml").write_text(
            INPUT.format(forcefields=forcefields, beads=beads, steps=steps, extras=extras))
        with open(self.folder / "i-pi.log", "w") as log:
            i_pi = subprocess.Popen([os.path.join(sys.prefix, "bin", "i-pi"), "input.xml"], cwd=self.folder, stdout=log,
                                    stderr=subprocess.STDOUT)
        try:
            structures = self.served(self.serve(address, *models))
            self.assertEqual(i_pi.wait(timeout=60), 0, (self.folder / "i-pi.log").read_text())
        finally:
            i_pi.kill()
            i_pi.wait()
        return np.loadtxt(self.folder / "out.energies"), structures

    def unix(self, more="", forcefield="weyl"):
        name = f"weyl_{os.getpid()}"
        return SOCKET.format(name=forcefield, mode="unix", address=name, port=0, more=more), f"unix:{name}"

    def test_unix_and_inet_sockets_give_the_same_digits(self):
        port = free_port()
        forcefield, address = self.unix()
        by_unix, structures = self.i_pi(forcefield, address, "painn")
        self.assertEqual(structures, 21)
        by_inet, _ = self.i_pi(SOCKET.format(name="weyl", mode="inet", address="localhost", port=port, more=""), f"localhost:{port}", "painn")
        np.testing.assert_array_equal(by_unix, by_inet)
        self.assertLess(np.ptp(by_unix[:, 1]), 0.01 * np.ptp(by_unix[:, 2]))  # the sum, of what is exchanged

    def test_beads_in_a_batch_are_beads_one_by_one(self):
        forcefield, address = self.unix()
        single, structures = self.i_pi(forcefield, address, "painn", beads=4, steps=5)
        self.assertEqual(structures, 24)
        forcefield, address = self.unix("<batch_size>4</batch_size>")
        batched, structures = self.i_pi(forcefield, address, "painn", beads=4, steps=5)
        self.assertEqual(structures, 24)
        np.testing.assert_array_equal(single, batched)

    def test_i_pi_reads_a_committee(self):
        forcefield, address = self.unix(forcefield="both")
        committee = f'<ffcommittee name="weyl"><parse_json>True</parse_json>{forcefield}</ffcommittee>'
        extras = '<trajectory filename="pot" stride="1" extra_type="committee_pot">extras</trajectory>'
        found, _ = self.i_pi(committee, address, "painn", "painn_2", steps=2, extras=extras)
        members = np.loadtxt(self.folder / "out.pot_0")
        self.assertEqual(members.shape, (3, 2))
        np.testing.assert_allclose(members.mean(axis=1), found[:, 2], rtol=1e-8)  # to as many digits as i-PI writes
        self.assertGreater(abs(members[0, 0] - members[0, 1]), 1e-3)

    def test_ase_is_told_what_predict_writes(self):
        subprocess.run([suite.BUILD / "bin" / "weyl", "predict", suite.MODELS / "painn", "start.extxyz", "--out",
                        "predicted.extxyz", "--dtype", "float64", "--quiet"], cwd=self.folder, check=True, stdout=subprocess.PIPE)
        predicted = ase.io.read(self.folder / "predicted.extxyz")
        for inet in False, True:
            energy, forces, stress = self.by_ase(self.atoms, inet)
            # ASE's units are those of CODATA 2014, ours of 2022: they differ by 8e-9.
            np.testing.assert_allclose(energy, predicted.info["weyl_energy"], rtol=2e-8)
            np.testing.assert_allclose(forces, predicted.arrays["weyl_forces"], rtol=1e-7, atol=1e-8)
            np.testing.assert_allclose(stress, predicted.info["weyl_stress"].reshape(3, 3), rtol=1e-7, atol=1e-10)

    def by_ase(self, atoms, inet=False):
        """Energy, forces and stress of atoms that ASE asks about, whose template is start.extxyz."""
        port = free_port()
        kind, address = ({"port": port}, f":{port}") if inet else ({"unixsocket": f"weyl_{port}"}, f"unix:weyl_{port}")
        with SocketIOCalculator(log=None, **kind) as calculator:
            process = self.serve(address, "painn")
            atoms = atoms.copy()
            atoms.pbc = True  # which it does not send: without, it keeps the stress to itself
            atoms.calc = calculator
            found = atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress(voigt=False)
        self.assertEqual(self.served(process), 1)  # ASE says no farewell: an end after STATUS is the usual one
        return found

    def test_the_virial_is_a_derivative_of_the_energy_whatever_is_periodic(self):
        for pbc in (True, True, False), (False, False, False):
            with self.subTest(pbc=pbc):
                self.atoms.pbc = pbc
                ase.io.write(self.folder / "start.extxyz", self.atoms)
                _, _, stress = self.by_ase(self.atoms)
                strain, strained = np.zeros((3, 3)), []
                for side in 1e-4, -1e-4:
                    strain[0, 1] = strain[1, 0] = side / 2
                    strain[0, 0] = side
                    atoms = self.atoms.copy()
                    atoms.set_cell(atoms.cell @ (np.eye(3) + strain), scale_atoms=True)
                    strained.append(self.by_ase(atoms)[0])
                slope = (strained[0] - strained[1]) / 2e-4 / self.atoms.get_volume()
                self.assertGreater(abs(slope), 1e-4)
                self.below(slope - stress[0, 0] - stress[0, 1], 1e-5 * abs(slope), pbc)

    def fault(self, *messages, models=("painn",)):
        """What `weyl serve` says of bytes that it is sent, its exit code before it."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            process = self.serve(f":{listener.getsockname()[1]}", *models)
            other, _ = listener.accept()
            with other:
                for message in messages:
                    other.sendall(message)
                other.shutdown(socket.SHUT_WR)
                while other.recv(4096):
                    pass
        _, err = process.communicate(timeout=60)
        return process.returncode, err.strip().splitlines()[-1]

    def test_what_is_no_conversation_ends_in_one_line(self):
        header = lambda text: text.ljust(12).encode()
        init = header("STATUS") + header("INIT") + struct.pack("=ii", 0, 0)
        n = len(self.atoms)
        cell = np.eye(3).tobytes() * 2
        places = np.zeros((n, 3)).tobytes()
        for messages, code, said in [
            ((header("HELLO"),), 3, "must send STATUS, INIT, POSDATA, GETFORCE or EXIT, sent 'HELLO'"),
            ((init, header("POSDATA") + cell + struct.pack("=i", n + 1)), 3, f"must send as many atoms as the template has, {n}, sends {n + 1}"),
            ((init, header("GETFORCE")), 3, "must send POSDATA before GETFORCE"),
            ((init, header("POSDATA") + cell[:30]), 3, "closed within a message"),
            ((header("INIT") + struct.pack("=ii", 0, -5),), 3, "INIT must have a text of 0 to 1048576 bytes, says -5"),
            ((header("INIT") + struct.pack("=ii", 0, 12) + b"batch_size:0",), 3, "batch_size must be from 1"),
            ((init, header("POSDATA") + cell + struct.pack("=i", n) + places), 3, "0 Angstrom apart"),
            ((init, header("STATUS")), 0, "answering"),
            ((init, header("EXIT")), 0, "answering"),
        ]:
            with self.subTest(said=said):
                found, line = self.fault(*messages)
                self.assertIn(said, line)
                self.assertEqual(found, code, line)

    def test_who_is_not_there_and_what_is_no_address(self):
        with socket.socket() as silent:  # bound, so that no other program listens there meanwhile
            silent.bind(("127.0.0.1", 0))
            for address, said in [("unix:", "unix:NAME must have a name"), ("localhost", "must be unix:NAME or HOST:PORT"),
                                  ("localhost:0", "from 1 to 65535"), (f"localhost:{silent.getsockname()[1]}", "nobody listens there")]:
                with self.subTest(address=address):
                    process = self.serve(address, "painn")
                    _, err = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, 2, err)
                    self.assertIn(said, err)

    def test_an_interrupt_while_nobody_asks(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            process = self.serve(f":{listener.getsockname()[1]}", "painn")
            other, _ = listener.accept()
            with other:
                process.send_signal(2)
                _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 5, err)

    def test_an_interrupt_while_somebody_always_asks(self):
        n = len(self.atoms)
        ask = self.places(np.array(self.atoms.positions) / 0.529177)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            process = self.serve(f":{listener.getsockname()[1]}", "painn")
            other, _ = listener.accept()
            with other, self.assertRaises(OSError):
                other.sendall(b"INIT".ljust(12) + struct.pack("=ii", 0, 0))
                for asked in range(1000000):
                    other.sendall(ask + b"GETFORCE".ljust(12))
                    if len(other.recv(12 + 8 + 4 + 24 * n + 72 + 4, socket.MSG_WAITALL)) < 12:
                        raise OSError
                    if asked == 3:
                        process.send_signal(15)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 5, err)

    def places(self, positions):
        return (b"POSDATA".ljust(12) + (np.array(self.atoms.cell.T) / 0.529177).tobytes() + bytes(72)
                + struct.pack("=i", len(positions)) + positions.tobytes())


if __name__ == "__main__":
    unittest.main()
