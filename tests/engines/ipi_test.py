#!/usr/bin/env python3
"""`weyl serve` asked by i-PI and by ASE.

    tests/engines/ipi_test.py --build build/release --models DIR
"""
import json
import os
import socket
import struct
import subprocess
import sys
import unittest

from engines import Test, in_venv, main, model, water_box

if __name__ == "__main__":
    in_venv()

import engines
import ase.io
import numpy as np
from ase import units
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
SOCKET = """<ffsocket name="weyl" mode="{mode}" pbc="False">
    <address>{address}</address><port>{port}</port><latency>1e-4</latency>{more}
  </ffsocket>"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Serve(Test):
    def setUp(self):
        super().setUp()
        self.atoms = water_box()
        self.atoms.rattle(0.02, seed=0)
        ase.io.write(self.folder / "start.extxyz", self.atoms)
        self.atoms = ase.io.read(self.folder / "start.extxyz")  # to as many digits as the file has

    def serve(self, address, *models, **more):
        return subprocess.Popen([engines.WEYL, "serve", *map(model, models), "--template", "start.extxyz", "--ipi", address,
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

    def unix(self, name, more=""):
        return SOCKET.format(mode="unix", address=name, port=0, more=more), f"unix:{name}"

    def test_unix_and_inet_sockets_give_the_same_digits(self):
        name, port = f"weyl_{os.getpid()}", free_port()
        forcefield, address = self.unix(name)
        by_unix, structures = self.i_pi(forcefield, address, "painn")
        self.assertEqual(structures, 21)
        by_inet, _ = self.i_pi(SOCKET.format(mode="inet", address="localhost", port=port, more=""), f"localhost:{port}", "painn")
        np.testing.assert_array_equal(by_unix, by_inet)
        self.assertLess(np.ptp(by_unix[:, 1]), 0.01 * np.ptp(by_unix[:, 2]))  # the sum, of what is exchanged

    def test_beads_in_a_batch_are_beads_one_by_one(self):
        forcefield, address = self.unix(f"weyl_{os.getpid()}")
        single, structures = self.i_pi(forcefield, address, "painn", beads=4, steps=5)
        self.assertEqual(structures, 24)
        forcefield, address = self.unix(f"weyl_{os.getpid()}", "<batch_size>4</batch_size>")
        batched, structures = self.i_pi(forcefield, address, "painn", beads=4, steps=5)
        self.assertEqual(structures, 24)
        np.testing.assert_array_equal(single, batched)

    def test_i_pi_reads_a_committee(self):
        forcefield, address = self.unix(f"weyl_{os.getpid()}")
        committee = f'<ffcommittee name="weyl"><parse_json>True</parse_json>{forcefield.replace(chr(34) + "weyl", chr(34) + "both")}</ffcommittee>'
        extras = '<trajectory filename="pot" stride="1" extra_type="committee_pot">extras</trajectory>'
        found, _ = self.i_pi(committee, address, "painn", "painn_2", steps=2, extras=extras)
        members = np.loadtxt(self.folder / "out.pot_0")
        self.assertEqual(members.shape, (3, 2))
        np.testing.assert_allclose(members.mean(axis=1), found[:, 2], rtol=1e-8)  # to as many digits as i-PI writes
        self.assertGreater(abs(members[0, 0] - members[0, 1]), 1e-3)

    def test_ase_is_told_what_predict_writes(self):
        self.run_weyl("predict", model("painn"), "start.extxyz", "--out", "predicted.extxyz", "--dtype", "float64")
        predicted = ase.io.read(self.folder / "predicted.extxyz")
        # ASE's units are those of CODATA 2014, ours of 2022: they differ by 8e-9.
        for kind, address in ({"unixsocket": f"weyl_{os.getpid()}"}, f"unix:weyl_{os.getpid()}"), (None, None):
            if kind is None:
                port = free_port()
                kind, address = {"port": port}, f":{port}"
            with SocketIOCalculator(log=None, **kind) as calculator:
                process = self.serve(address, "painn")
                atoms = self.atoms.copy()
                atoms.calc = calculator
                np.testing.assert_allclose(atoms.get_potential_energy(), predicted.info["weyl_energy"], rtol=2e-8)
                np.testing.assert_allclose(atoms.get_forces(), predicted.arrays["weyl_forces"], rtol=1e-7, atol=1e-8)
                np.testing.assert_allclose(atoms.get_stress(voigt=False), predicted.info["weyl_stress"].reshape(3, 3), rtol=1e-7, atol=1e-10)
            self.assertEqual(self.served(process), 1)  # ASE says no farewell: an end after STATUS is the usual one

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
        for address, said in [("unix:", "unix:NAME must have a name"), ("localhost", "must be unix:NAME or HOST:PORT"),
                              ("localhost:0", "from 1 to 65535"), (f"localhost:{free_port()}", "nobody listens there")]:
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


if __name__ == "__main__":
    main()
